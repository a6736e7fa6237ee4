package testserver

import "os"

// Long reports whether tests run all their repetitions: make test-long sets TEST_LONG.
func Long() bool { return os.Getenv("TEST_LONG") == "1" }
