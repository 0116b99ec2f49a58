#include "tests/support/temporary_folder.h"

#include <QtWidgets/QApplication>

#include <gtest/gtest.h>

/// Every program has a home of its own, so that settings and caches of the user stay as they are.
int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    const workbench::TemporaryDirectory home;
    for (const char* name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"})
        qputenv(name, QByteArray::fromStdString(home.path().string()));
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    QApplication::setOrganizationName("fusion-workbench-test");
    QApplication::setApplicationName("fusion-workbench-test");
    return RUN_ALL_TESTS();
}
