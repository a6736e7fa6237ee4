package health

import (
	"context"
	"sync"
)

// round checks targets, those of different servers concurrently.
type round struct {
	prober   *prober
	workers  int
	observed func(Outcome) // may be nil
	network  *network
}

// run checks jobs, and returns the results in the order of the jobs; jobs that ctx interrupted have no
// outcome. The only error is errOffline.
func (r *round) run(ctx context.Context, jobs []job) ([]checkResult, error) {
	results := make([]checkResult, len(jobs))
	same := make(map[string][]int) // indexes of jobs with the same target
	servers := make(map[string][]string)
	for i, j := range jobs {
		results[i].job = j
		if same[j.uri] == nil {
			u, _ := checkable(j.uri) // all uncheckable targets count as one server
			servers[serverOf(u)] = append(servers[serverOf(u)], j.uri)
		}
		same[j.uri] = append(same[j.uri], i)
	}
	queue := make(chan []string)
	var working sync.WaitGroup
	for range min(r.workers, len(servers)) {
		working.Go(func() {
			for uris := range queue {
				for _, uri := range uris {
					found := r.prober.check(ctx, uri)
					if ctx.Err() != nil {
						break
					}
					for _, i := range same[uri] {
						results[i].Result = found
					}
				}
			}
		})
	}
	for _, uris := range servers {
		queue <- uris
	}
	close(queue)
	working.Wait()
	if err := r.network.check(ctx, r.prober, results); err != nil {
		return nil, err
	}
	if r.observed != nil {
		for _, c := range results {
			if c.Outcome != "" {
				r.observed(c.Outcome)
			}
		}
	}
	return results, nil
}
