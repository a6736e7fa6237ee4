package config

// Telemetry says where traces are sent.
type Telemetry struct {
	Endpoint string `mapstructure:"endpoint"` // empty: nowhere
	Sample   int    `mapstructure:"sample"`   // one request of so many
}

func telemetrySettings() []Setting {
	return []Setting{
		{Path: "telemetry", Invalidates: Nothing, Doc: "Traces for OpenTelemetry, one span for each step of a resolution."},
		{
			Path: "telemetry.endpoint", Form: "http:// or https:// and a host", check: checkEndpoint,
			Doc: "the collector, by OTLP over HTTP, such as http://127.0.0.1:4318; empty: none are sent",
		},
		{
			Path: "telemetry.sample", Default: 1, Least: 1, Most: 1_000_000,
			Doc: "one of this many requests is traced, in addition to those whose traceparent asks for it",
		},
	}
}

func checkEndpoint(f *Faults, path string, value any) {
	if endpoint, _ := value.(string); endpoint != "" {
		checkServer(f, path, endpoint)
	}
}
