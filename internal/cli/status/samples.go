package status

import (
	"bytes"
	"cmp"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// samples are the metrics of a scrape by their names.
type samples map[string]*dto.MetricFamily

// parseSamples parses the text format of Prometheus.
func parseSamples(text []byte) (samples, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(bytes.NewReader(text))
}

// sample is a sample with its labels.
type sample struct {
	*dto.Metric
	labels map[string]string
}

// value returns what is counted or measured.
func (s sample) value() float64 {
	return cmp.Or(s.GetCounter().GetValue(), s.GetGauge().GetValue(), s.GetUntyped().GetValue())
}

// of returns the samples of a metric.
func (s samples) of(name string) (all []sample) {
	for _, m := range s[name].GetMetric() {
		labels := make(map[string]string)
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		all = append(all, sample{m, labels})
	}
	return all
}

// sum adds the samples of a metric whose labels are wanted; nil wants all.
func (s samples) sum(name string, wanted func(labels map[string]string) bool) (total float64) {
	for _, one := range s.of(name) {
		if wanted == nil || wanted(one.labels) {
			total += one.value()
		}
	}
	return total
}

// label returns a label of the first sample of a metric, "" where there is none.
func (s samples) label(name, label string) string {
	for _, one := range s.of(name) {
		return one.labels[label]
	}
	return ""
}
