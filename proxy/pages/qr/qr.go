// Package qr renders QR codes. A text of limited length enters; an SVG element leaves, which is accessible by
// its label. It follows ISO/IEC 18004, and has no state.
package qr

import (
	"fmt"
	"html"
	"image/color"
	"strconv"

	"github.com/boombuler/barcode/qr"
)

// MaxText limits a text, in bytes: the modules of a larger code are too small for the cameras of telephones.
const MaxText = 500

// quietZone is the margin that scanners need, in modules: ISO/IEC 18004 section 6.3.8.
const quietZone = 4

// SVG returns the QR code of a text, with error correction level M, as an SVG element. It is black on white
// in any colour scheme; its size is set by the style sheet. label is its accessible name; it is escaped. It
// fails if the text is longer than MaxText.
func SVG(text, label string) ([]byte, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("making a QR code: the text has %d bytes, the limit is %d", len(text), MaxText)
	}
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return nil, fmt.Errorf("making a QR code: %w", err)
	}
	modules := code.Bounds().Dx()
	side := strconv.Itoa(modules + 2*quietZone)
	label = html.EscapeString(label)
	svg := []byte(`<svg class="qr" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="` + label +
		`" viewBox="0 0 ` + side + ` ` + side +
		`" shape-rendering="crispEdges"><title>` + label + `</title><path fill="#fff" d="M0 0h` + side + `v` + side +
		`H0z"/><path fill="#000" d="`)
	for y := range modules {
		svg = appendRow(svg, y, modules, func(x int) bool { return code.At(x, y) == color.Black })
	}
	return append(svg, `"/></svg>`...), nil
}

// appendRow appends the runs of black modules of a row as path commands.
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
