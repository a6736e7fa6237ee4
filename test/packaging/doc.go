// Package packaging contains the end-to-end tests of the Debian package, of the release signature, and of the
// commands and configurations in the documentation. The package, README.md and docs/recipes.md enter; the
// commands run, and their output is compared with the documents.
package packaging
