package squidconf

import (
	"fmt"
	"strings"
)

const (
	minutesOfDay = 24 * 60
	dayLetters   = "MTWHFAS" // from Monday to Sunday: A is Saturday, S Sunday; D stands for Monday to Friday
)

func everyTime() ranges { return ranges{numbers(0, len(dayLetters)*minutesOfDay-1)} }

// times converts an acl of days and hours. A span without days applies every day, and days without a span are
// whole days.
func (a *ACL) times(means *condition) {
	var set []addressRange
	for _, line := range a.Lines {
		days := ""
		for i, item := range line {
			var from, minutes, to, minutesTo int
			n, err := fmt.Sscanf(item.Value, "%d:%d-%d:%d", &from, &minutes, &to, &minutesTo)
			// The last minute is included.
			first, last := from*60+minutes, min(to*60+minutesTo, minutesOfDay-1)
			switch letters := strings.ReplaceAll(item.Value, "D", dayLetters[:5]); {
			case n == 0 && strings.Trim(letters, dayLetters) == "":
				if days += letters; i == len(line)-1 {
					set = append(set, spans(days, 0, minutesOfDay-1)...)
				}
			case err != nil || max(minutes, minutesTo) > 59 || min(from, minutes, to, minutesTo) < 0 || to > 24 ||
				first > last:
				means.addUnconverted(a, item.At, fmt.Sprintf("%q is neither days nor a time range", item.Value),
					"times, such as Mon-Fri 08:00-18:00")
			case days == "":
				set = append(set, spans(dayLetters, first, last)...)
			default:
				set = append(set, spans(days, first, last)...)
				days = ""
			}
		}
	}
	means.cubes = []cube{oneSet(ofTimes, &values{set: newRanges(set)})}
}

// spans returns the minutes of a week from first to last on each of the days.
func spans(days string, first, last int) (all []addressRange) {
	for day, letter := range dayLetters {
		if strings.ContainsRune(days, letter) {
			all = append(all, numbers(day*minutesOfDay+first, day*minutesOfDay+last))
		}
	}
	return all
}

// times formats a set of minutes in the syntax of settings, grouping days with the same spans.
func (s ranges) times() (all []string) {
	const workdays = "Mon,Tue,Wed,Thu,Fri"
	days := make(map[string]string) // by span
	var order []string
	for day, name := range strings.Split(workdays+",Sat,Sun", ",") {
		for _, r := range s.and(ranges{numbers(day*minutesOfDay, (day+1)*minutesOfDay-1)}) {
			first, last := r.bounds()
			first, last = first-day*minutesOfDay, last-day*minutesOfDay+1
			span := fmt.Sprintf(" %02d:%02d-%02d:%02d", first/60, first%60, last/60, last%60)
			if last-first == minutesOfDay {
				span = ""
			}
			if days[span] == "" {
				order = append(order, span)
			}
			days[span] += "," + name
		}
	}
	for _, span := range order {
		all = append(all, strings.Replace(days[span][1:], workdays, "Mon-Fri", 1)+span)
	}
	return all
}
