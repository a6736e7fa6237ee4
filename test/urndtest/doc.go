// Package urndtest starts the built urnd for end-to-end tests: a process of its own with a configuration in a file, on
// ports of loopback that the system chooses. Tests see of it what users see: its listeners, its log and its exit status.
//
// The program is built once for a process of tests, or is that of the environment variable TEST_URND.
package urndtest
