<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en">
<context>
    <name>inspector</name>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>and %n more</numerusform>
            <numerusform>and %n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>workbench::gui::BeforeAfterPanel</name>
    <message numerus="yes">
        <source>%1: %n nodes become %2</source>
        <translation>
            <numerusform>%1: %n node becomes %2</numerusform>
            <numerusform>%1: %n nodes become %2</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>workbench::gui::BisectView</name>
    <message numerus="yes">
        <source>Searching %n applied sites …</source>
        <translation>
            <numerusform>Searching %n applied site …</numerusform>
            <numerusform>Searching %n applied sites …</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>workbench::gui::DecisionsPanel</name>
    <message numerus="yes">
        <source>%n sites</source>
        <translation>
            <numerusform>%n site</numerusform>
            <numerusform>%n sites</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The report of %n sites is on the clipboard.</source>
        <translation>
            <numerusform>The report of %n site is on the clipboard.</numerusform>
            <numerusform>The report of %n sites is on the clipboard.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n tokens</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Verify %n sites</source>
        <translation>
            <numerusform>Verify %n site</numerusform>
            <numerusform>Verify %n sites</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Verifying %n sites: the original and the rewritten model run on the same tokens.</source>
        <translation>
            <numerusform>Verifying %n site: the original and the rewritten model run on the same tokens.</numerusform>
            <numerusform>Verifying %n sites: the original and the rewritten model run on the same tokens.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Greedy text is the same over %n tokens.</source>
        <translation>
            <numerusform>Greedy text is the same over %n token.</numerusform>
            <numerusform>Greedy text is the same over %n tokens.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Greedy text differs after %n tokens.</source>
        <translation>
            <numerusform>Greedy text differs after %n token.</numerusform>
            <numerusform>Greedy text differs after %n tokens.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sites could not be compared.</source>
        <translation>
            <numerusform>%n site could not be compared.</numerusform>
            <numerusform>%n sites could not be compared.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>workbench::gui::Document</name>
    <message numerus="yes">
        <source>%n decision(s) were dropped: their sites are gone, the first is %1</source>
        <translation>
            <numerusform>%n decision was dropped: its site is gone: %1</numerusform>
            <numerusform>%n decisions were dropped: their sites are gone, the first is %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>workbench::gui::MeasurePanel</name>
    <message numerus="yes">
        <source>Stopped after %n rounds.</source>
        <translation>
            <numerusform>Stopped after %n round.</numerusform>
            <numerusform>Stopped after %n rounds.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>workbench::gui::ModulePage</name>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>and %n more</numerusform>
            <numerusform>and %n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>workbench::gui::Page</name>
    <message numerus="yes">
        <source>%1, rewritten by %2; the same in %n modules</source>
        <translation>
            <numerusform>%1, rewritten by %2; the same in %n module</numerusform>
            <numerusform>%1, rewritten by %2; the same in %n modules</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>workbench::gui::PatternBars</name>
    <message numerus="yes">
        <source>%1 (%n sites)</source>
        <translation>
            <numerusform>%1 (%n site)</numerusform>
            <numerusform>%1 (%n sites)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>workbench::gui::ReportText</name>
    <message numerus="yes">
        <source>%1: %2 times so far; %n rounds give a verdict</source>
        <translation>
            <numerusform>%1: %2 times so far; %n round gives a verdict</numerusform>
            <numerusform>%1: %2 times so far; %n rounds give a verdict</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n requests of a trace</source>
        <translation>
            <numerusform>%n request of a trace</numerusform>
            <numerusform>%n requests of a trace</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n requests at once</source>
        <translation>
            <numerusform>%n request at once</numerusform>
            <numerusform>%n requests at once</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n prompt tokens</source>
        <translation>
            <numerusform>%n prompt token</numerusform>
            <numerusform>%n prompt tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n prompts</source>
        <translation>
            <numerusform>%n prompt</numerusform>
            <numerusform>%n prompts</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n new tokens</source>
        <translation>
            <numerusform>%n new token</numerusform>
            <numerusform>%n new tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rounds in turn</source>
        <translation>
            <numerusform>%n round in turn</numerusform>
            <numerusform>%n rounds in turn</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>workbench::gui::ScopeBar</name>
    <message numerus="yes">
        <source>Apply or take back %n sites</source>
        <translation>
            <numerusform>Apply or take back %n site</numerusform>
            <numerusform>Apply or take back %n sites</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>workbench::gui::SitePage</name>
    <message numerus="yes">
        <source>estimate, %n tokens</source>
        <translation>
            <numerusform>estimate, %n token</numerusform>
            <numerusform>estimate, %n tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>workbench::gui::SitesModel</name>
    <message numerus="yes">
        <source>%1 of %2 bytes of traffic and %3 of %4 launches less, for %n tokens; an estimate from shapes</source>
        <translation>
            <numerusform>%1 of %2 bytes of traffic and %3 of %4 launches less, for %n token; an estimate from shapes</numerusform>
            <numerusform>%1 of %2 bytes of traffic and %3 of %4 launches less, for %n tokens; an estimate from shapes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Traffic saved: bytes that need not be read or written for %n tokens, estimated from shapes</source>
        <translation>
            <numerusform>Traffic saved: bytes that need not be read or written for %n token, estimated from shapes</numerusform>
            <numerusform>Traffic saved: bytes that need not be read or written for %n tokens, estimated from shapes</numerusform>
        </translation>
    </message>
</context>
</TS>
