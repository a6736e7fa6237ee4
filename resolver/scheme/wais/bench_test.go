package wais

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

// BenchmarkNested decodes and displays a record of nested indefinite lengths, the most expensive input.
func BenchmarkNested(b *testing.B) {
	const data, depth = 1 << 20, 9
	open := strings.Repeat("\x30\x80\x81\x01\x01\xa2\x03\x82\x01\x01\xa4\x80\xa6\x80", depth)
	end := strings.Repeat("\x00\x00\x00\x00\x00\x00", depth)
	leaf := strings.Repeat("\x30\x00", data/2)
	record := []byte("\x30\x80" + open + leaf + end + "\x00\x00")
	b.SetBytes(int64(len(record)))
	for b.Loop() {
		e, _, err := readElement(bufio.NewReader(bytes.NewReader(record)), data*2)
		if err != nil {
			b.Fatal(err)
		}
		if grsText(e) == "" {
			b.Fatal("no text")
		}
	}
}
