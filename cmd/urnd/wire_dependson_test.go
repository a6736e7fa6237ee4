package main

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/urnd/urnd/config"
)

// irrelevant are the sections of the configuration that do not affect the contents of any
// cache, with the reason.
func irrelevant() map[string]string {
	sections := map[string]string{
		"Listen":    "the listeners of requests",
		"TLS":       "the transport of requests",
		"Limits":    "numbers of concurrent requests, and timeouts: failures because of them are not stored",
		"Reload":    "when the configuration is read",
		"Log":       "what is logged",
		"Gateways":  "how HTTP responses are made",
		"Proxy":     "what the clients of the forward proxy may ask for",
		"Telemetry": "what is traced",
	}
	for _, section := range gatewaySections() {
		sections[section] = "how HTTP responses are made"
	}
	return sections
}

// partly are the settings without effect on a cache in sections that have others with one.
func partly() map[string]string {
	return map[string]string{
		"Access.ResolveClients": "which clients may send requests", "Access.ProxyClients": "which clients may send requests", "Access.ProxyUsers": "which clients may send requests",
		"Access.CORS": "which pages may read replies", "Access.Embedders": "which pages may load what is retrieved", "Access.SecurityContact": "a document", "Access.FreshClients": "which clients may go around the caches", "Access.AdminClients": "who the administrators are", "Access.AdminToken": "who the administrators are", "Access.TrustedProxies": "how clients are identified", "Access.AdminProxies": "how administrators are identified",
		"Access.PurgeClients": "who may purge", "Cache.Responses": "HTTP responses", "Cache.MaxResponse": "HTTP responses",
		"Cache.HeuristicPercent": "HTTP responses",
		"Cache.HarmlessFields":   "HTTP responses", "Cache.CollapseTimeout": "HTTP responses", "Cache.CollapseLimit": "HTTP responses",
		"Registry.HealthInterval": "checks of targets", "Registry.HealthRate": "checks of targets", "Registry.HealthConcurrency": "checks of targets",
		"Registry.HealthPause": "checks of targets", "Registry.HealthContact": "checks of targets",
		"Cache.HeuristicMax": "HTTP responses", "Cache.Disk": "HTTP responses", "Cache.DiskDirectory": "HTTP responses",
	}
}

// Each section of the configuration either affects the contents of a cache and is in its
// basis, or is declared irrelevant with a reason: a new section fails until it is in one.
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
				t.Errorf("%s depends on %s, which is not a section", name, section)
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
