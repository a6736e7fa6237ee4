package testserver

import "testing"

// Screen describes the screen of a page and the settings of its browser. The zero values are common defaults.
type Screen struct {
	Width, Height int // in CSS pixels
	Dark          bool
	// ForcedColors emulates the colors of a contrast theme, and ReducedMotion the corresponding system
	// preference.
	ForcedColors, ReducedMotion bool
	Print                       bool // print layout
	NoScript                    bool // scripts of the page are disabled
}

// media returns the parameters of Emulation.setEmulatedMedia.
func (s Screen) media() map[string]any {
	choose := func(name, otherwise, value string, is bool) map[string]string {
		if is {
			otherwise = value
		}
		return map[string]string{"name": name, "value": otherwise}
	}
	all := map[string]any{"media": "", "features": []map[string]string{
		choose("prefers-color-scheme", "light", "dark", s.Dark),
		choose("forced-colors", "none", "active", s.ForcedColors),
		choose("prefers-reduced-motion", "no-preference", "reduce", s.ReducedMotion),
	}}
	if s.Print {
		all["media"] = "print"
	}
	return all
}

// Show opens a URL on a screen and waits until it is loaded.
func (c *Chromium) Show(t testing.TB, url string, s Screen) {
	t.Helper()
	c.call(t, "Emulation.setDeviceMetricsOverride",
		map[string]any{"width": s.Width, "height": s.Height, "deviceScaleFactor": 1, "mobile": false}, nil)
	c.call(t, "Emulation.setEmulatedMedia", s.media(), nil)
	c.call(t, "Emulation.setScriptExecutionDisabled", map[string]any{"value": s.NoScript}, nil)
	c.seen = observer{urls: make(map[string]string)}
	var shown struct{ LoaderID, ErrorText string }
	c.call(t, "Page.navigate", map[string]any{"url": url}, &shown)
	if shown.ErrorText != "" {
		t.Fatalf("%s: %s", url, shown.ErrorText)
	}
	c.seen.page = shown.LoaderID
	for {
		m, err := c.session.receive()
		if err != nil {
			t.Fatalf("waiting for %s: %v", url, err)
		}
		if m.Method == "Page.loadEventFired" {
			return
		}
	}
}
