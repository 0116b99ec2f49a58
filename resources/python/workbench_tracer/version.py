"""Version of the tracer; part of every trace and of the cache key."""

VERSION = "0.1.0"
