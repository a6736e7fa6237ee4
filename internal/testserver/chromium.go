package testserver

import "testing"

// ChromiumDOM returns the document at a URL as Chromium has it after its scripts have run. flags are
// those of Chromium, such as "--proxy-server=http://127.0.0.1:8141". It uses no profile but an own one.
func ChromiumDOM(t testing.TB, url string, flags ...string) string {
	t.Helper()
	c := StartChromium(t, append([]string{"--disable-features=HttpsUpgrades"}, flags...)...)
	c.Show(t, url, Screen{Width: 800, Height: 600})
	var document string
	c.Evaluate(t, "document.documentElement.outerHTML", &document)
	return document
}
