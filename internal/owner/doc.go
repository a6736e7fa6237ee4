// Package owner lets commands that root runs act as the owner of a file. The path of a store enters ActAs,
// which executes the program again with the user and group of the owner, and with the capabilities CAP_CHOWN
// and CAP_DAC_OVERRIDE (capabilities(7)); it returns if that is unnecessary or impossible. On other systems
// than Linux it does nothing.
package owner
