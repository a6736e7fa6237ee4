package telemetry

import (
	"testing"

	"go.opentelemetry.io/otel/attribute"
)

// TestDescribe checks that spans identify the service, version and instance (semantic conventions of
// OpenTelemetry, service.*).
func TestDescribe(t *testing.T) {
	all := attribute.NewSet(describe(Config{Version: "1.2.3", Instance: "north:8141"})...)
	for key, want := range map[attribute.Key]string{
		"service.name": "urnd", "service.version": "1.2.3",
		"service.instance.id": "north:8141",
	} {
		if got, _ := all.Value(key); got.AsString() != want {
			t.Errorf("%s is %q", key, got.AsString())
		}
	}
}
