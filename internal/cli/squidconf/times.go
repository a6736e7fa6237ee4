package squidconf

import (
	"fmt"
	"slices"
	"strings"
)

const minutesOfDay = 24 * 60

// times adds what an acl of days and hours means. A span without days is on each day, days without a span are whole.
func (a *ACL) times(means *condition) {
	var windows []string
	for _, line := range a.Lines {
		days := ""
		for i, item := range line {
			if item.Value != "" && item.Value[0] >= '0' && item.Value[0] <= '9' {
				span, ok := spanOf(item.Value)
				if !ok {
					means.lose(a, item.At, fmt.Sprintf("%q is not a span of time", item.Value), "times, such as Mon-Fri 08:00-18:00")
					continue
				}
				windows = append(windows, strings.TrimSpace(days+" "+span))
				days = ""
				continue
			}
			more, ok := daysOf(item.Value)
			if !ok {
				means.lose(a, item.At, fmt.Sprintf("%q are no days", item.Value), "times, such as Mon-Fri 08:00-18:00")
				continue
			}
			if days != "" {
				more = days + "," + more
			}
			if days = more; i == len(line)-1 {
				windows = append(windows, days)
			}
		}
	}
	var holds cube
	holds.texts[times] = windows
	if holds.texts[times] == nil {
		holds.texts[times] = []string{}
	}
	means.cubes = append(means.cubes, holds)
}

// daysOf reads the letters of days: MTWHF, SA, D.
func daysOf(letters string) (string, bool) {
	const order = "MTWHFAS"
	names := []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	var has [7]bool
	for _, letter := range letters {
		switch at := strings.IndexRune(order, letter); {
		case letter == 'D':
			has[0], has[1], has[2], has[3], has[4] = true, true, true, true, true
		case at >= 0:
			has[at] = true
		default:
			return "", false
		}
	}
	var all []string
	for first := 0; first < len(has); first++ {
		if !has[first] {
			continue
		}
		last := first
		for last+1 < len(has) && has[last+1] {
			last++
		}
		if text := names[first]; last > first {
			all = append(all, text+"-"+names[last])
		} else {
			all = append(all, text)
		}
		first = last
	}
	return strings.Join(all, ","), !slices.Contains(all, "") && len(all) > 0
}

// spanOf reads hours. The last minute is one of the span to Squid, and its end to urnd.
func spanOf(text string) (string, bool) {
	var hours, minutes, hoursTo, minutesTo int
	if n, err := fmt.Sscanf(text, "%d:%d-%d:%d", &hours, &minutes, &hoursTo, &minutesTo); err != nil || n != 4 {
		return "", false
	}
	from, to := hours*60+minutes, min(hoursTo*60+minutesTo+1, minutesOfDay)
	if minutes > 59 || minutesTo > 59 || min(hours, minutes, hoursTo, minutesTo) < 0 || hoursTo > 24 || from >= to {
		return "", false
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d", from/60, from%60, to/60, to%60), true
}
