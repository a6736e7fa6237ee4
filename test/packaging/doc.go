// Package packaging has the end-to-end tests of the Debian package, and of what the documentation tells administrators to write and to run.
package packaging
