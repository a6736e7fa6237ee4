// Package telemetry tests what a running urnd sends to a collector of OpenTelemetry, which decodes it by the
// protocol's own package; it has no code but tests. urnd is the program of ../../cmd/urnd, built by the tests, or
// that which URND_BINARY names.
package telemetry
