package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// undecidedSettings are those of gateways that only change how the next response is made; what is stored stays, in memory
// and on disk.
func undecidedSettings() map[string]string {
	return map[string]string{
		"Gateways.Timeout": "how long a server may take", "Gateways.MaxEntries": "the length of a listing", "Gateways.MaxListing": "the length of a listing",
		"Gateways.TTL": "how long the next listing is fresh", "FTP.Anonymous": "the password of everybody", "FTP.MaxIdle": "connections", "FTP.Idle": "connections", "News.MaxIdle": "connections", "News.Idle": "connections",
		"News.Page": "the length of a page", "WAIS.Records": "the length of a page",
	}
}

// Each setting of a gateway either decides whether, and from where, what is stored could be fetched again,
// or is declared not to: a new one fails until it is in one.
func TestResponsesBasisOfGateways(t *testing.T) {
	all, before := reflect.TypeFor[config.Config](), config.Default()
	for _, name := range append(gatewaySections(), "Gateways") {
		section, _ := all.FieldByName(name)
		for i := range section.Type.NumField() {
			setting := name + "." + section.Type.Field(i).Name
			c := config.Default()
			alter(t, reflect.ValueOf(&c).Elem().FieldByName(name).Field(i))
			decides := undecidedSettings()[setting] == ""
			if changed := !reflect.DeepEqual(responsesBasis(before), responsesBasis(c)); changed != decides {
				t.Errorf("%s: the basis of responses changes: %t", setting, changed)
			}
			if changed := diskBasis(before) != diskBasis(c); changed != decides {
				t.Errorf("%s: the basis of responses on disk changes: %t", setting, changed)
			}
		}
	}
}

// gatewaySections returns the sections of the configuration that have the settings of protocol gateways.
func gatewaySections() []string {
	var names []string
	all := reflect.TypeFor[config.Config]()
	for _, g := range gateways(config.Default()) {
		section, _, isSet := strings.Cut(g.Setting, ".")
		for i := range all.NumField() {
			if isSet && all.Field(i).Tag.Get("mapstructure") == section {
				names = append(names, all.Field(i).Name)
			}
		}
	}
	return names
}

// Each gateway with a setting has a section of its own.
func TestGatewaySections(t *testing.T) {
	want := 0
	for _, g := range gateways(config.Default()) {
		if g.Setting != "" {
			want++
		}
	}
	if got := gatewaySections(); len(got) != want || want == 0 {
		t.Errorf("the sections of %d gateways: %q", want, got)
	}
}
