package main

// report returns why urnd is not ready, and what is wrong although it is, by what the daemon says of itself and by
// what each part does. It is the one place that decides: /readyz, the page for operators, the metrics and the status
// for systemd show what it says, and urnd status and load balancers read that. docs/operations.md has a table of what
// each part reports.
func (r *resolution) report(daemon func() (unready, degraded []string)) (unready, degraded []string) {
	unready, degraded = daemon()
	for _, part := range r.readiness {
		no, but := part()
		unready, degraded = append(unready, no...), append(degraded, but...)
	}
	return unready, degraded
}

// degrading returns the report of a part without which urnd is ready: what it is for is answered from elsewhere.
func degrading(faults func() []string) func() (unready, degraded []string) {
	return func() (unready, degraded []string) { return nil, faults() }
}
