package problem

// StatusesSent returns the statuses of the table.
func StatusesSent() []int {
	all := make([]int, 0, len(statuses))
	for _, r := range statuses {
		all = append(all, r.status)
	}
	return append(all, 500)
}
