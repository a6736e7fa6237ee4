package main

// fastPathSetting turns the fast path off where it is "false", as in make test-slow-path.
const fastPathSetting = "URND_LISTEN_FAST_PATH"
