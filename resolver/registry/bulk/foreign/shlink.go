package foreign

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Shlink reads the short URLs of Shlink: the JSON of its API, or the CSV that its web client exports.
func Shlink(in *Input, base string) (Entries, error) {
	next := newTable(in, "longUrl").next
	if in.isJSON() {
		next = newDocuments(in, in, "shortUrls", "data").next
	}
	return entries(next, "short URL of Shlink", func(r *record, i *Item) {
		code, url, long, domain := r.string("shortCode"), r.string("shortUrl"), r.string("longUrl"), r.string("domain")
		i.Input = shown(url + " " + long)
		switch {
		case base != "" && code != "":
			i.named(pathBase(base), code)
			i.ID = cmp.Or(url, domain+"/"+code)
		case url != "":
			i.nameEncoded("", url, url)
		}
		var meta struct {
			ValidSince time.Time `json:"validSince"`
			ValidUntil time.Time `json:"validUntil"`
			MaxVisits  int       `json:"maxVisits"`
		}
		r.take(&meta, "meta")
		const unit = time.Millisecond // the resolution of times in the registry
		i.to(registry.Target{
			URI: strings.TrimSpace(long), From: meta.ValidSince.UTC().Truncate(unit),
			Until: meta.ValidUntil.UTC().Truncate(unit),
		})
		i.describe("title", r.string("title"))
		i.describe("created", r.string("dateCreated", "createdAt"))
		if tags := r.texts("|,", "tags"); len(tags) > 0 {
			i.describe("tags", tags)
		}
		if meta.MaxVisits > 0 {
			i.addUnmappedField("maxVisits", "limit of %d visits", meta.MaxVisits)
		}
		i.addUnmappedShlink(r)
	}), nil
}

// addUnmappedShlink lists the unmapped fields of a short URL.
func (i *Item) addUnmappedShlink(r *record) {
	var summary struct {
		Total int `json:"total"`
	}
	var count int // before version 4
	var devices map[string]*string
	var crawlable, rules bool
	forward := true
	r.take(&summary, "visitsSummary")
	r.take(&count, "visitsCount")
	r.take(&devices, "deviceLongUrls")
	r.take(&crawlable, "crawlable")
	r.take(&rules, "hasRedirectRules")
	r.take(&forward, "forwardQuery")
	if visits := cmp.Or(r.scalar("visits"), strconv.Itoa(max(summary.Total, count))); visits != "0" {
		i.addUnmappedField("visits", "count of %.20s visits", visits)
	}
	if crawlable {
		i.addUnmappedField("crawlable", "crawlable")
	}
	for device, target := range devices {
		if target != nil && *target != "" {
			i.addUnmappedField("deviceLongUrls", "target for the device %.40s: %.200s", device, *target)
		}
	}
	if rules {
		i.addUnmappedField("hasRedirectRules", "redirect rules (hasRedirectRules), which are in another document")
	}
	if !forward {
		i.addUnmappedField("forwardQuery", "forwardQuery false: urnd appends the query of a request for the host")
	}
}
