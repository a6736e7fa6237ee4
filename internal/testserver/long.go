package testserver

import "os"

// Long tells whether tests of many repetitions run with all of them: make test-long sets TEST_LONG.
func Long() bool { return os.Getenv("TEST_LONG") == "1" }
