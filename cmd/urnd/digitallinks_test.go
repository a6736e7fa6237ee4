package main

import (
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/registry"
)

const (
	linkHost = "id.example"
	linkRoot = "https://id.example"
	gtin     = "/01/09506000134352"
)

func digitalLinks() []config.DigitalLink {
	return []config.DigitalLink{
		{
			Root: linkRoot + "/", Name: "The resolver of Example Ltd", Contact: "Example Ltd",
			Terms: "https://example.org/terms", Contexts: []string{"DE", "FR"},
		},
		{Root: "https://dpp.example/", Scheme: "data-identifiers"},
	}
}

// linked returns targets: "type URI" with attributes "lang=de", "type=text/html", "context=FR", and
// "title=..." up to the end.
func linked(texts ...string) (r registry.Record) {
	for _, text := range texts {
		fields := strings.Fields(text)
		t := registry.Target{Rel: fields[0], URI: fields[1]}
		for i, field := range fields[2:] {
			key, value, _ := strings.Cut(field, "=")
			switch key {
			case "lang":
				t.Language = value
			case "type":
				t.Type = value
			case "context":
				t.Context = value
			case "title":
				t.Title = strings.TrimPrefix(strings.Join(fields[2+i:], " "), "title=")
			}
		}
		r.Targets = append(r.Targets, t)
	}
	return r
}
