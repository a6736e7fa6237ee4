package config

import (
	"iter"
	"reflect"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
)

// suggest returns the known key that is most similar to an unknown one, "" if none is.
func suggest(unknown string) string {
	parts := strings.Split(unknown, ".")
	var indexes []string
	for i, part := range parts {
		if _, err := strconv.Atoi(part); err == nil {
			indexes = append(indexes, part)
			parts[i] = anyIndex
		}
	}
	wanted := strings.Join(parts, ".")
	best, distance := "", 1+max(2, len(wanted)/5)
	for _, known := range keysOf("", reflect.TypeFor[Config]()) {
		if d := levenshtein.ComputeDistance(wanted, known); d < distance && strings.Count(known, anyIndex) == len(indexes) {
			best, distance = known, d
		}
	}
	for _, i := range indexes {
		best = strings.Replace(best, anyIndex, i, 1)
	}
	return best
}

// tookItsPlace says what to write in place of a setting that is now a part of another one, "" for other keys.
func tookItsPlace(key string) string {
	switch key {
	case "dns.max_ttl", "thttp.max_ttl":
		return "write resolve.max_ttl, which is for both"
	case "ftp.enabled", "gopher.enabled", "news.enabled", "wais.enabled":
		return "write gateways.enabled, a list of ftp, gopher, news and wais"
	case "ftp.max_idle", "news.max_idle":
		return "write gateways.max_idle, which is for both"
	case "ftp.idle", "news.idle":
		return "write gateways.idle, which is for both"
	case "limits.bound_connections":
		return "it is a quarter of limits.outgoing"
	case "registry.health_concurrency":
		return "write registry.health_rate, which bounds these requests"
	case "proxy.connect_addresses":
		return "write a rule in proxy.rules: {id: addresses, action: deny, schemes: [connect], hosts: [0.0.0.0/0, '::/0']}"
	case "gateways.max_entries":
		return "write gateways.max_listing, which bounds a listing"
	case "slp.multicast", "slp.group":
		return "write the group in slp.agents, such as 239.255.255.253"
	}
	return ""
}

// anyIndex stands for an element of a list in a path.
const anyIndex = "*"

// keysOf returns the paths of all settings in a type, sections included.
func keysOf(prefix string, t reflect.Type) []string {
	var keys []string
	for key := range fieldsOf(prefix, t) {
		keys = append(keys, key)
	}
	return keys
}

// fieldsOf yields the paths of all settings in a type, sections included, with their fields.
func fieldsOf(prefix string, t reflect.Type) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for field := range t.Fields() {
			key, below := prefix+field.Tag.Get("mapstructure"), field.Type
			if !yield(key, field) {
				return
			}
			if below.Kind() == reflect.Slice {
				key, below = key+"."+anyIndex, below.Elem()
			}
			if !isSection(below) {
				continue
			}
			for inner, field := range fieldsOf(key+".", below) {
				if !yield(inner, field) {
					return
				}
			}
		}
	}
}
