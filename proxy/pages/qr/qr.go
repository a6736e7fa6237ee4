// Package qr draws texts as QR codes (ISO/IEC 18004). It is pure.
package qr

import (
	"fmt"
	"html"
	"image/color"
	"strconv"

	"github.com/boombuler/barcode/qr"
)

// MaxText bounds a text, in octets: a code of more has modules that cameras of telephones do not tell apart.
const MaxText = 500

// quietZone is the margin that readers need, in modules: ISO/IEC 18004 section 6.3.8.
const quietZone = 4

// SVG returns the code of a text, with the error correction level M, as an element of HTML. It is black on white, whatever the colours around
// it are, and is as large as its style says. label is read out in its place; both are escaped. It fails where the text is longer than MaxText.
func SVG(text, label string) ([]byte, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("making a QR code: a text of %d octets, since one has at most %d", len(text), MaxText)
	}
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return nil, fmt.Errorf("making a QR code: %w", err)
	}
	modules := code.Bounds().Dx()
	side := strconv.Itoa(modules + 2*quietZone)
	label = html.EscapeString(label)
	svg := []byte(`<svg class="qr" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="` + label + `" viewBox="0 0 ` + side + ` ` + side +
		`" shape-rendering="crispEdges"><title>` + label + `</title><path fill="#fff" d="M0 0h` + side + `v` + side + `H0z"/><path fill="#000" d="`)
	for y := range modules {
		svg = appendRow(svg, y, modules, func(x int) bool { return code.At(x, y) == color.Black })
	}
	return append(svg, `"/></svg>`...), nil
}

// appendRow appends the runs of black modules of a row as parts of a path.
func appendRow(dst []byte, y, modules int, isBlack func(x int) bool) []byte {
	for x := 0; x < modules; x++ {
		begin := x
		for x < modules && isBlack(x) {
			x++
		}
		if n := int64(x - begin); n > 0 {
			dst = strconv.AppendInt(append(dst, 'M'), int64(begin+quietZone), 10)
			dst = strconv.AppendInt(append(dst, ' '), int64(y+quietZone), 10)
			dst = strconv.AppendInt(append(dst, 'h'), n, 10)
			dst = strconv.AppendInt(append(dst, "v1h"...), -n, 10)
			dst = append(dst, 'z')
		}
	}
	return dst
}
