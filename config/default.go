package config

import (
	"net/netip"
	"reflect"
	"strings"
)

// Default returns the configuration of urnd without any source: the defaults of Settings.
func Default() Config {
	var c Config
	for _, s := range Settings() {
		if s.Default != nil {
			fieldAt(reflect.ValueOf(&c).Elem(), s.Path).Set(reflect.ValueOf(s.Default))
		}
	}
	return c
}

// fieldAt returns the field of a struct at the path of a setting, the zero Value if there
// is none.
func fieldAt(v reflect.Value, path string) reflect.Value {
	for key := range strings.SplitSeq(path, ".") {
		found := reflect.Value{}
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("mapstructure") == key {
				found = v.Field(i)
			}
		}
		if !found.IsValid() {
			return found
		}
		v = found
	}
	return v
}

func allAddresses() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
}

func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}
