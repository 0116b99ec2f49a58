#include "app/session/locations.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>

namespace workbench {
namespace {

namespace fs = std::filesystem;

/// Sets variables of the environment (nullopt: takes them away) and puts them back at the end.
class Environment {
public:
    explicit Environment(const std::map<std::string, std::optional<std::string>>& values) {
        for (const auto& [name, value] : values) {
            const char* old = std::getenv(name.c_str());
            m_old[name] = old ? std::optional<std::string>(old) : std::nullopt;
            set(name, value);
        }
    }
    ~Environment() {
        for (const auto& [name, value] : m_old)
            set(name, value);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    static void set(const std::string& name, const std::optional<std::string>& value) {
        if (value)
            ::setenv(name.c_str(), value->c_str(), 1);
        else
            ::unsetenv(name.c_str());
    }
    std::map<std::string, std::optional<std::string>> m_old;
};

TEST(TheCache, LiesWhereTheUserSays) {
    const Environment set({{"XDG_CACHE_HOME", "/some/cache"}, {"HOME", "/some/home"}});
    EXPECT_EQ(Locations::find().cache, "/some/cache/fusion-workbench");
}

TEST(TheCache, LiesInTheHomeWhereXdgSaysNothingOrARelativePath) {
    for (const std::optional<std::string>& xdg :
         {std::optional<std::string>(), std::optional<std::string>("cache")}) {
        const Environment set({{"XDG_CACHE_HOME", xdg}, {"HOME", "/some/home"}});
        EXPECT_EQ(Locations::find().cache, "/some/home/.cache/fusion-workbench");
    }
}

TEST(TheCache, IsNeverRelativeOrSharedAndNeedsNoTemporaryFolder) {
    for (const std::optional<std::string>& home :
         {std::optional<std::string>(), std::optional<std::string>("home")}) {
        const Environment set({{"XDG_CACHE_HOME", std::nullopt}, {"HOME", home}, {"TMPDIR", "/nowhere"}});
        const fs::path cache = Locations::find().cache;
        EXPECT_TRUE(cache.is_absolute());
        EXPECT_NE(cache, "/tmp/fusion-workbench");
    }
}

class MadePython : public TemporaryFolder {
protected:
    /// An environment as packaging leaves it.
    fs::path make(const std::string& name) const {
        const fs::path environment = folder() / name;
        fs::create_directories(environment / "bin");
        fs::create_symlink("/bin/true", environment / "bin" / "python");
        std::ofstream(environment / ".complete");
        return environment;
    }
    Result<fs::path> found() const { return findPython({"", "", folder()}); }

    const Environment m_environment{{{"WORKBENCH_PYTHON", std::nullopt}}};
};

TEST_F(MadePython, AStrangersIsNotRun) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "giving files away needs privileges";
    if (!found().ok() || found()->string().starts_with(folder().string())) {
        const fs::path environment = make("env-1");
        EXPECT_EQ(found().value(), environment / "bin" / "python");
        ASSERT_EQ(::chown(environment.c_str(), 12345, 12345), 0);
        EXPECT_FALSE(found().ok());
    } else {
        GTEST_SKIP() << "this build has a configured Python, which comes first";
    }
}

} // namespace
} // namespace workbench
