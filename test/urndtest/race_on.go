//go:build race

package urndtest

const raceEnabled = true
