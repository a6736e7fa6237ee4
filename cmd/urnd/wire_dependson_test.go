package main

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/urnd/urnd/config"
)

// irrelevant are the sections of the configuration that decide nothing of what is in any
// cache, with the reason.
func irrelevant() map[string]string {
	return map[string]string{
		"Listen":    "where requests come from",
		"TLS":       "how requests come",
		"Limits":    "how much goes on at a time, and how long it may take: what fails for it is not stored",
		"Reload":    "when the configuration is read",
		"Log":       "what is said of it",
		"Telemetry": "what is said of it",
	}
}

// partly are the settings of sections that decide only in part.
func partly() map[string]string {
	return map[string]string{
		"Access.ResolveClients": "who may ask", "Access.ProxyClients": "who may ask", "Access.ProxyUsers": "who may ask",
		"Access.AdminClients": "who may administrate", "Access.AdminToken": "who may administrate", "Access.TrustedProxies": "who asks",
	}
}

// Each section of the configuration decides what is in a cache, and is in its basis, or is
// declared irrelevant with a reason: a new section fails here until that is thought about.
func TestDependsOn(t *testing.T) {
	all := reflect.TypeFor[config.Config]()
	for i := range all.NumField() {
		section := all.Field(i).Name
		inBasis := slices.Contains(dependsOn()["answers"], section)
		if _, declared := irrelevant()[section]; declared == inBasis {
			t.Errorf("section %s: in the basis of answers %t, declared irrelevant %t", section, inBasis, declared)
		}
	}
	for name, sections := range dependsOn() {
		for _, section := range sections {
			if _, ok := all.FieldByName(section); !ok {
				t.Errorf("%s depends on %s, which is no section", name, section)
			}
		}
	}
}

// A change of any setting in a section of the basis changes the basis, and one of any
// other setting does not.
func TestBasisOfEachSetting(t *testing.T) {
	all := reflect.TypeFor[config.Config]()
	for i := range all.NumField() {
		section := all.Field(i)
		if section.Type.Kind() != reflect.Struct {
			continue
		}
		for j := range section.Type.NumField() {
			setting := section.Name + "." + section.Type.Field(j).Name
			c := config.Default()
			alter(t, reflect.ValueOf(&c).Elem().Field(i).Field(j))
			changed := !reflect.DeepEqual(basisOf("answers", config.Default()), basisOf("answers", c))
			_, isIrrelevant := irrelevant()[section.Name]
			_, isPart := partly()[setting]
			if changed == (isIrrelevant || isPart) {
				t.Errorf("%s: the basis changes: %t", setting, changed)
			}
		}
	}
	c := config.Default()
	c.Namespaces = []config.Namespace{{NID: "a"}}
	if reflect.DeepEqual(basisOf("answers", config.Default()), basisOf("answers", c)) {
		t.Error("Namespaces: the basis does not change")
	}
}

// alter gives a setting another value.
func alter(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem()))
	case reflect.Struct:
		v.Set(reflect.ValueOf(config.Agent{AddrPort: netip.MustParseAddrPort("192.0.2.1:1")}))
	default:
		t.Fatalf("a setting of type %s", v.Type())
	}
}
