package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestErrorPositions requires that a diagnostic has its position and a suggestion.
func TestErrorPositions(t *testing.T) {
	t.Setenv("URND_DNS_ROUNDS", "many")
	path := write(t, "urnd.yaml", `dns:
  timout: 5s
  timeout: soon
namespaces:
  - nid: example
    targets:
      - template: https://a.example/
        pattren: x
limmits: {target: 8KiB}
completely: different
limits: {rate: 2.5}
thttp: {timeout: 5, default_ttl: 2.5}
resolve: {max_ttl: "60"}
`)
	_, err := config.Load(path, map[string]any{"log.format": "xml"})
	if err == nil {
		t.Fatal("no fault")
	}
	for _, want := range []string{
		path + ":2: dns.timout: unknown key; did you mean dns.timeout?",
		path + `:3: dns.timeout: "soon" is not a duration such as 5s, 2m or 1h30m (1ms to 1m)`,
		`URND_DNS_ROUNDS: dns.rounds: "many" is not a whole number`,
		path + ":8: namespaces.0.targets.0.pattren: unknown key; did you mean namespaces.0.targets.0.pattern?",
		path + ":9: limmits.target: unknown key; did you mean limits.target?",
		path + ":10: completely: unknown key\n",
		path + ":11: limits.rate: 2.5 is not a whole number (0 to 10000000)",
		path + ":12: thttp.timeout: 5 has no unit: write 5s or 5ms (1ms to 10m)",
		path + ":13: resolve.max_ttl: 60 has no unit: write 60s or 60ms (1s to 8760h)",
		path + ":12: thttp.default_ttl: 2.5 has no unit: write 2.5s or 2.5ms (0s to 8760h)",
		`log.format: "xml" is not auto, text, json or journald`,
	} {
		if !strings.Contains(lines(err)+"\n", want) {
			t.Errorf("nothing says %q:\n%v", want, err)
		}
	}
}

func TestOrigins(t *testing.T) {
	path := write(t, "urnd.yaml", "dns:\n  timeout: 1s\n  rounds: 3\nlog: {level: warn}\n")
	t.Setenv("URND_DNS_ROUNDS", "4")
	_, origins, err := config.LoadOrigins(path, map[string]any{"log.level": "error"})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"dns.timeout": "file " + path + ":2:3", "dns.rounds": "environment URND_DNS_ROUNDS", "log.level": "flag",
		"log.format": "default",
	} {
		if got := origins.Of(key).String(); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

// TestLocateOnce requires that an error with file and line is not located again.
func TestLocateOnce(t *testing.T) {
	path := write(t, "urnd.yaml", "dns:\n  timeout: 1s\n")
	t.Setenv("URND_DNS_ROUNDS", "4")
	_, origins, err := config.LoadOrigins(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"dns.timeout: is short":                      path + ":2:3: dns.timeout: is short",
		"making servers: dns.timeout: is short":      path + ":2:3: making servers: dns.timeout: is short",
		"dns.rounds: are few":                        "URND_DNS_ROUNDS: dns.rounds: are few",
		"making: " + path + ":2: dns.timeout: short": "making: " + path + ":2: dns.timeout: short",
	} {
		for range 2 {
			if err = origins.Locate(errors.New(text)); err.Error() != want {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
			text = err.Error()
		}
	}
}
