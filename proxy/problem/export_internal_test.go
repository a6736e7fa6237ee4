package problem

// StatusesSent returns the statuses of the table.
func StatusesSent() []int {
	all := make([]int, 0, len(statuses))
	for _, r := range statuses {
		all = append(all, r.status)
	}
	return append(all, 500)
}

// CodesOfRows returns the codes of the table.
func CodesOfRows() []string {
	all := make([]string, 0, len(statuses))
	for _, r := range statuses {
		all = append(all, r.code)
	}
	return all
}

// Codes returns the codes of the table, and those of failures between urnd and a server.
func Codes() []string {
	all := append(CodesOfRows(), codeInternal, "not_valid", "server_refused")
	for _, t := range errorTypes() {
		if t.code != "" {
			all = append(all, t.code)
		}
	}
	return all
}
