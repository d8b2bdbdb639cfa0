# Installs the program, the libraries, the headers and the package config: find_package(memcrest), memcrest::memcrest.
#
# Headers go to include/memcrest/src/..., so that "src/..." includes read the same for a consumer.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(memcrest_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/memcrest")
install(TARGETS memcrest ${memcrest_folder_targets} EXPORT memcrest ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(TARGET memcrest_program)
  install(TARGETS memcrest_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(DIRECTORY src DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/memcrest" FILES_MATCHING PATTERN "*.h")
install(EXPORT memcrest NAMESPACE memcrest:: DESTINATION "${memcrest_package_dir}")

configure_package_config_file(cmake/memcrestConfig.cmake.in memcrestConfig.cmake INSTALL_DESTINATION "${memcrest_package_dir}")
write_basic_package_version_file(memcrestConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/memcrestConfig.cmake" "${PROJECT_BINARY_DIR}/memcrestConfigVersion.cmake"
    DESTINATION "${memcrest_package_dir}")
