package config

import (
	"net/netip"
	"reflect"
)

// Default returns the configuration of urnd without any source: the defaults of Settings.
func Default() Config {
	var c Config
	fields := fieldsByPath(reflect.ValueOf(&c).Elem())
	for _, s := range Settings() {
		if s.Default != nil {
			fields[s.Path].Set(reflect.ValueOf(s.Default))
		}
	}
	return c
}

// fieldsByPath returns the fields of a configuration by the paths of their settings, sections included.
func fieldsByPath(config reflect.Value) map[string]reflect.Value {
	fields := make(map[string]reflect.Value)
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for field, value := range v.Fields() {
			path := prefix + field.Tag.Get("mapstructure")
			fields[path] = value
			if isSection(field.Type) {
				walk(path+".", value)
			}
		}
	}
	walk("", config)
	return fields
}

func allAddresses() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
}

func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}
