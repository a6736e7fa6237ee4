package qr_test

import (
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/pages/qr"
)

// drawn renders an SVG, with a number of pixels for each module.
func drawn(t *testing.T, svg []byte) image.Image {
	t.Helper()
	var element struct {
		ViewBox string `xml:"viewBox,attr"`
		Title   string `xml:"title"`
		Paths   []struct {
			Fill string `xml:"fill,attr"`
			D    string `xml:"d,attr"`
		} `xml:"path"`
	}
	if err := xml.Unmarshal(svg, &element); err != nil || len(element.Paths) != 2 {
		t.Fatalf("%v: %s", err, svg)
	}
	var side int
	if _, err := fmt.Sscanf(element.ViewBox, "0 0 %d", &side); err != nil {
		t.Fatal(err)
	}
	const scale = 8
	picture := image.NewGray(image.Rect(0, 0, side*scale, side*scale))
	for i := range picture.Pix {
		picture.Pix[i] = 255
	}
	for run := range strings.SplitSeq(strings.TrimSuffix(element.Paths[1].D, "z"), "z") {
		var x, y, n int
		if _, err := fmt.Sscanf(run, "M%d %dh%dv1", &x, &y, &n); err != nil {
			t.Fatalf("%q: %v", run, err)
		}
		for py := y * scale; py < (y+1)*scale; py++ {
			for px := x * scale; px < (x+n)*scale; px++ {
				picture.SetGray(px, py, color.Gray{})
			}
		}
	}
	return picture
}

// An independent scanner decodes the codes.
func TestCodesAreRead(t *testing.T) {
	zbarimg := testserver.Need(t, "zbarimg")
	for _, text := range []string{
		"https://urn.example.org/urn:nbn:de:101:1-201102033592",
		"https://id.example.org/01/09506000134352/10/ABC%2F1?17=271231", "1",
		"https://urn.example.org/" + strings.Repeat("a", qr.MaxText-24),
	} {
		svg, err := qr.SVG(text, "code")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "code.png")
		file, err := os.Create(path)
		if err == nil {
			err = png.Encode(file, drawn(t, svg))
		}
		if err != nil || file.Close() != nil {
			t.Fatal(err)
		}
		read, err := exec.CommandContext(t.Context(), zbarimg, "--quiet", "--raw", path).Output()
		if got := strings.TrimSuffix(string(read), "\n"); err != nil || got != text {
			t.Errorf("%q: read as %q, %v", text, got, err)
		}
	}
}

// A label is escaped, and a text that is too long is an error.
func TestBounds(t *testing.T) {
	svg, err := qr.SVG("a", `"><script>`)
	if err != nil || strings.Contains(string(svg), "<script") {
		t.Errorf("%s, %v", svg, err)
	}
	if _, err := qr.SVG(strings.Repeat("a", qr.MaxText+1), ""); err == nil {
		t.Error("a long text is accepted")
	}
}

func BenchmarkSVG(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := qr.SVG("https://urn.example.org/urn:nbn:de:101:1-201102033592", "code"); err != nil {
			b.Fatal(err)
		}
	}
}
