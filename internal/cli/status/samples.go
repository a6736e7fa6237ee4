package status

import (
	"strconv"
	"strings"
)

// samples are the samples of a scrape by the name of their metric, as in the text format of Prometheus
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
type samples map[string][]sample

type sample struct {
	labels labels
	value  float64
}

type labels map[string]string

// parseSamples reads what it can: a line that it does not understand is of a metric that it does not know either.
func parseSamples(text string) samples {
	all := make(samples)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		end := strings.IndexAny(line, "{ ")
		if end < 0 {
			continue
		}
		name, rest := line[:end], line[end:]
		s := sample{labels: make(labels)}
		if rest[0] == '{' {
			rest = s.labels.parse(rest[1:])
		}
		value, _, _ := strings.Cut(strings.TrimSpace(rest), " ") // a time may follow
		var err error
		if s.value, err = strconv.ParseFloat(value, 64); err == nil {
			all[name] = append(all[name], s)
		}
	}
	return all
}

// parse reads labels, and returns what follows their closing brace.
func (l labels) parse(text string) (rest string) {
	for {
		name, after, ok := strings.Cut(text, `="`)
		if !ok || strings.HasPrefix(text, "}") {
			return strings.TrimPrefix(text, "}")
		}
		var value strings.Builder
		i := 0
		for ; i < len(after) && after[i] != '"'; i++ {
			if after[i] == '\\' && i+1 < len(after) {
				if i++; after[i] == 'n' {
					value.WriteByte('\n')
					continue
				}
			}
			value.WriteByte(after[i])
		}
		l[strings.TrimLeft(name, ", ")] = value.String()
		text = after[min(i+1, len(after)):]
	}
}

// sum adds the samples of a metric whose labels are wanted; nil wants all.
func (s samples) sum(name string, wanted func(labels) bool) (total float64) {
	for _, one := range s[name] {
		if wanted == nil || wanted(one.labels) {
			total += one.value
		}
	}
	return total
}

// label returns a label of the first sample of a metric, "" where there is none.
func (s samples) label(name, label string) string {
	if len(s[name]) == 0 {
		return ""
	}
	return s[name][0].labels[label]
}
