// Package telemetry tests the spans that a running urnd sends to an OpenTelemetry collector (OTLP), which
// decodes them with the official protocol package, and the propagation of W3C Trace Context. It contains only
// tests. urnd is built from ../../cmd/urnd by the tests, or named by URND_BINARY.
package telemetry
