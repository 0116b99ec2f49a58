# What `cmake --install` puts where: programs beside each other, resources where Locations::find() looks.
include(GNUInstallDirs)
set(share ${CMAKE_INSTALL_DATADIR}/fusion-workbench)

install(TARGETS workbench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY resources/python resources/schema resources/example DESTINATION ${share} PATTERN __pycache__ EXCLUDE)
install(FILES packaging/requirements.txt packaging/requirements-model.txt DESTINATION ${share})
install(FILES packaging/desktop/workbench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

if(WORKBENCH_GUI)
    install(TARGETS workbench-window workbench-layout RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES packaging/desktop/fusion-workbench.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
    install(FILES packaging/desktop/fusion-workbench.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
    install(FILES packaging/desktop/org.fusion_workbench.Workbench.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
endif()

# The worker needs the LibTorch of an environment that `workbench setup` makes: a script in front of it finds that.
if(WORKBENCH_WORKER)
    set(private ${CMAKE_INSTALL_LIBDIR}/fusion-workbench)
    set_target_properties(workbench-worker workbench_ops PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS workbench-worker RUNTIME DESTINATION ${private})
    install(TARGETS workbench_ops LIBRARY DESTINATION ${private})
    install(PROGRAMS packaging/desktop/workbench-worker DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
