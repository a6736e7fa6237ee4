package config_test

import (
	"testing"

	"github.com/urnd/urnd/config"
)

func TestWindow(t *testing.T) {
	for text, want := range map[string]string{
		"Mon-Fri 08:00-18:00":         "Mon,Tue,Wed,Thu,Fri 08:00-18:00",
		"sat,SUN":                     "Sat,Sun 00:00-24:00",
		"22:00-06:00":                 "Mon,Tue,Wed,Thu,Fri,Sat,Sun 22:00-06:00",
		"Fri-Mon 8:15-24:00":          "Mon,Fri,Sat,Sun 08:15-24:00",
		"Sun 00:00-00:01":             "Sun 00:00-00:01",
		"Mon-Wed,Fri 23:59-00:00":     "Mon,Tue,Wed,Fri 23:59-00:00",
		"":                            "",
		"8:00":                        "",
		"08:00-08:00":                 "",
		"24:00-08:00":                 "",
		"08:00-24:01":                 "",
		"08:00-18:60":                 "",
		"08:0-18:00":                  "",
		"Monday 08:00-18:00":          "",
		"Mon-":                        "",
		"Mon,,Tue":                    "",
		"08:00-18:00 Mon":             "",
		"Mon 08:00-12:00 14:00-18:00": "",
		"MTWHF 08:00-18:00":           "",
	} {
		var w config.Window
		err := w.UnmarshalText([]byte(text))
		if (err != nil) != (want == "") || err == nil && w.String() != want {
			t.Errorf("%q: %v, %v, want %q", text, w, err, want)
		}
		var again config.Window
		if err == nil && (again.UnmarshalText([]byte(w.String())) != nil || again != w) {
			t.Errorf("%q is read back as %v", w, again)
		}
	}
}
