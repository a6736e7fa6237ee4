//go:build e2e

package browser

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// TestPagesInLynx checks each page of a running urnd in a text browser: it has the same text, each link has a
// text, and each field is preceded by a label.
func TestPagesInLynx(t *testing.T) {
	t.Parallel()
	lynx := testserver.Need(t, "lynx")
	site, home := startBrowserSite(t, nil), t.TempDir()
	mark, reference := regexp.MustCompile(`\[\d+\]`), regexp.MustCompile(`(?m)^ *\d+\. \S`)
	emptyLink, fields := regexp.MustCompile(`\[\d+\]\s*(\[|\n|$)`), regexp.MustCompile(`(?m)^(.*?)_{5,}`)
	for _, page := range sitePages(site) {
		target, _ := site.at(&page)
		cmd := exec.CommandContext(t.Context(), lynx, "-dump", "-width=100", "-display_charset=utf-8", target)
		cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "HOME="+home)
		out, err := cmd.Output()
		if isError := page.status >= http.StatusBadRequest; (err != nil) != isError {
			t.Errorf("%s: %v", page.name, err)
		}
		text, references, ok := strings.Cut(string(out), "\nReferences\n")
		if !ok {
			t.Fatalf("%s: %s", page.name, out)
		}
		words := strings.Join(strings.Fields(mark.ReplaceAllString(text, "")), " ")
		for _, has := range append(page.has, page.heading) {
			if !strings.Contains(words, has) {
				t.Errorf("%s: no %s in %s", page.name, has, text)
			}
		}
		if found := emptyLink.FindString(text); found != "" {
			t.Errorf("%s: a link without a text: %q", page.name, found)
		}
		for _, field := range fields.FindAllStringSubmatch(text, -1) {
			// Labels of editors' fields are above them, and checked by axe.
			if strings.TrimSpace(field[1]) == "" && !page.admin {
				t.Errorf("%s: a field without a label: %s", page.name, text)
			}
		}
		listed, marked := reference.FindAllString(references, -1), mark.FindAllString(text, -1)
		if len(listed) < 2 || len(listed) != len(marked) {
			t.Errorf("%s: %d links, and %d references: %s", page.name, len(marked), len(listed), out)
		}
	}
}

// TestQRCodeOnScreen checks that the QR code on the page about a name, read from the screen, contains the URL
// to cite.
func TestQRCodeOnScreen(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	zbarimg := testserver.Need(t, "zbarimg")
	site := startBrowserSite(t, nil)
	browser := testserver.StartChromium(t)
	for _, dark := range []bool{false, true} {
		browser.Show(t, site.URL+"/uri-res/N2C.html?urn:example:book",
			testserver.Screen{Width: 1200, Height: 900, Dark: dark})
		browser.Run(t, `return document.querySelector("img.qr").decode()`)
		path := filepath.Join(t.TempDir(), fmt.Sprintf("dark-%t.png", dark))
		if err := os.WriteFile(path, browser.Screenshot(t), 0o600); err != nil {
			t.Fatal(err)
		}
		read, err := exec.CommandContext(t.Context(), zbarimg, "--quiet", "--raw", path).Output()
		if got := strings.TrimSpace(string(read)); err != nil || got != site.URL+"/urn:example:book" {
			t.Errorf("dark %t: %q, %v", dark, got, err)
		}
	}
	r, err := http.Get(site.URL + "/uri-res/N2C.qr?urn:example:book")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if svg, err := io.ReadAll(r.Body); err != nil || r.Header.Get("Content-Type") != "image/svg+xml" ||
		!strings.HasPrefix(string(svg), "<svg ") {
		t.Errorf("%v %s, %v", r.Header, svg, err)
	}
}
