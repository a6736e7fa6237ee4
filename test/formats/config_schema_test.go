package formats_test

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/urnd/urnd/config"
)

// TestConfigSchema checks that the configuration schema accepts and rejects the same configurations as urnd.
func TestConfigSchema(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("urnd.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("urnd.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		config.Example(): true,
		"dns:\n":         true,
		"dns: {timeout: 1m30s, servers: [192.0.2.1]}":                             true,
		"log: {level: warn}":                                                      true,
		"namespaces: [{nid: a1, targets: [{template: 'http://a/', gone: true}]}]": true,
		"limits: {target: 4096}":                                                  true,
		"resolve: {unknown_status: 501}":                                          true,
		"dns: {timout: 5s}":                                                       false,
		"dns: {timeout: 5}":                                                       false,
		"resolve: {backoff: 0}":                                                   true,
		"dns: {timeout: soon}":                                                    false,
		"dns: {rounds: 0}":                                                        false,
		"dns: {rounds: many}":                                                     false,
		"dns: {servers: 192.0.2.1}":                                               false,
		"limits: {target: lots}":                                                  false,
		"log: {format: xml}":                                                      false,
		"resolve: {unknown_status: 200}":                                          false,
		"resolve: {order: [magic]}":                                               false,
		"namespaces: [{nid: a1, fold: sideways}]":                                 false,
		"namespaces: [{nid: a1, schemes: [data]}]":                                false,
		"ddds: {root_options: [{root: a.b., servers: [192.0.2.1]}]}":              true,
		"proxy: {rules: [{id: a, action: deny, ports: [443, 8000-8999]}]}":        true,
		"proxy: {rules: [{id: a, action: deny, ports: [https]}]}":                 false,
		"proxy: {rules: [{id: a, action: drop}]}":                                 false,
		"namespaces: [{name: a1}]":                                                false,
		"colour: blue":                                                            false,
	} {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != valid {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}
