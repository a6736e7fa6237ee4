package ftp

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkListing has a directory of 1,000 names, by MLSD and by LIST.
func BenchmarkListing(b *testing.B) {
	const count = 1000
	var facts, list strings.Builder
	for i := range count {
		fmt.Fprintf(&facts, "type=file;size=%d;modify=20240229131415;UNIX.mode=0644;unique=fd01g%x; Package-%d.tar.gz\r\n", i*100, i, (i*7919)%count)
		fmt.Fprintf(&list, "-rw-r--r--   1 ftp      ftp      %8d Feb 29  2024 Package-%d.tar.gz\r\n", i*100, (i*7919)%count)
	}
	for verb, text := range map[string]string{"MLSD": facts.String(), "LIST": list.String()} {
		b.Run(verb, func(b *testing.B) {
			f := &fake{data: map[string]string{verb: text}, replies: map[string]string{}}
			if verb == "MLSD" {
				f.replies["FEAT"] = "211-a\r\n MLST type*;size*;modify*;\r\n211 b"
			}
			at, h := "ftp://"+f.start(b)+"/", handler(b, func(c *Config) { c.TLS = TLSNever })
			b.ReportAllocs()
			for b.Loop() {
				if resource, _, err := get(b, h, at); err != nil || len(resource.Listing.Items) != count {
					b.Fatalf("%v, %v", resource, err)
				}
			}
		})
	}
}
