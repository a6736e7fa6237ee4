package squidconf

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// bytesOf reads a size such as 256 MB; the unit may be missing, where byDefault is it.
func bytesOf(words []string, byDefault int64) (int64, bool) {
	if len(words) == 0 {
		return 0, false
	}
	n, err := strconv.ParseFloat(words[0], 64)
	unit := byDefault
	if len(words) > 1 {
		units := map[string]int64{"byte": 1, "bytes": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
		if known, ok := units[strings.ToLower(words[1])]; ok {
			unit = known
		}
	}
	size := n * float64(unit)
	return int64(size), err == nil && size >= 0 && size < math.MaxInt64/2
}

// sizeText returns a size as settings have it.
func sizeText(size int64) string {
	switch {
	case size >= 1<<20 && size%(1<<20) == 0:
		return strconv.FormatInt(size>>20, 10) + "MiB"
	case size >= 1<<10:
		return strconv.FormatInt(size>>10, 10) + "KiB"
	}
	return strconv.FormatInt(size, 10) + "B"
}

const (
	defaultResponses   = 128 << 20
	defaultMaxResponse = 8 << 20
	largestSize        = 1 << 50
)

func (c *conversion) size(d Directive, byDefault int64) (int64, bool) {
	size, ok := bytesOf(d.Arguments(), byDefault)
	if !ok || size > largestSize/1024 {
		c.lose(d, "it is no size", "a size, such as 256MiB")
		return 0, false
	}
	return size, true
}

func (c *conversion) cacheMemory(d Directive) {
	if c.cacheOff() {
		return
	}
	size, ok := c.size(d, 1)
	if !ok {
		return
	}
	if size < 8<<10 {
		size = 0 // an eighth of it would be less than the least cache.max_response
	}
	c.set(d, "cache.responses", sizeText(size))
	c.fit(size, defaultMaxResponse, "at most an eighth of cache.responses")
}

func (c *conversion) largestInMemory(d Directive) {
	size, ok := c.size(d, 1)
	if !ok {
		return
	}
	responses := int64(defaultResponses)
	for _, other := range c.directives {
		if other.Name == "cache_mem" {
			if n, ok := bytesOf(other.Arguments(), 1); ok && n <= largestSize/1024 {
				responses = n
			}
		}
	}
	if !c.fit(responses, size, from(d)+"; at most an eighth of cache.responses") {
		c.set(d, "cache.max_response", sizeText(max(size, 1<<10)))
	}
}

// fit makes cache.max_response an eighth of cache.responses, where it would be more.
func (c *conversion) fit(responses, largest int64, why string) bool {
	if responses/8 >= largest || responses < 8<<10 {
		return false
	}
	c.document.set("cache.max_response", sizeText(max(responses/8, 1<<10)), why)
	return true
}

func (c *conversion) cacheDirectory(d Directive) {
	words := d.Arguments()
	if len(words) < 3 || words[0] == "null" {
		c.lose(d, "it has no size", "cache.disk and cache.disk_directory")
		return
	}
	size, ok := bytesOf(words[2:3], 1<<20)
	if !ok || size > largestSize/1024 {
		c.lose(d, "its size is none", "cache.disk")
		return
	}
	c.disk += size
	c.document.set("cache.disk", sizeText(c.disk), from(d), "The directory is that of the service; elsewhere set cache.disk_directory, to an empty one.")
}

// cacheOff reports whether nothing is cached.
func (c *conversion) cacheOff() bool {
	return slices.ContainsFunc(c.directives, func(d Directive) bool {
		return d.Name == "cache" && slices.Equal(d.Arguments(), []string{"deny", "all"})
	})
}

func (c *conversion) cacheAccess(d Directive) {
	switch words := d.Arguments(); {
	case slices.Equal(words, []string{"deny", "all"}):
		c.set(d, "cache.responses", "0B")
	case slices.Equal(words, []string{"allow", "all"}):
	default:
		c.lose(d, "what is cached by acls: missing", "cache with never, of proxy.sites")
	}
}

// refresh carries the pattern for all URLs over. Those of Debian for others say nothing that urnd needs.
func (c *conversion) refresh(d Directive) {
	words := d.Arguments()
	unneeded := func(why string) {
		c.result.Unneeded = append(c.result.Unneeded, Loss{d.Position, d.Name, why, ""})
	}
	words = slices.DeleteFunc(words, func(word string) bool { return word == "-i" || word == "+i" })
	if len(words) < 4 {
		c.lose(d, "it has no pattern and three numbers", "cache.heuristic_percent and cache.heuristic_max")
		return
	}
	least, percent, most := words[1], strings.TrimSuffix(words[2], "%"), words[3]
	isHeuristic := least == "0" && isInteger(percent) && isInteger(most) && len(words) == 4
	switch {
	case strings.HasPrefix(words[0], "^ftp:") || strings.HasPrefix(words[0], "^gopher:"):
		unneeded("listings and files of gateways are fresh for gateways.ttl")
	case words[0] == `(/cgi-bin/|\?)` && least == "0" && percent == "0":
		unneeded("what has neither a lifetime nor a time of its last change is not stored (RFC 9111 section 4.2.2)")
	case words[0] != "." || !isHeuristic:
		c.lose(d, "lifetimes by pattern, least ones, and options: missing", "cache with least and most, of proxy.sites")
	default:
		c.set(d, "cache.heuristic_percent", strconv.Itoa(min(max(atoi(percent), 0), 100)))
		c.set(d, "cache.heuristic_max", strconv.Itoa(min(max(atoi(most), 0), 8760*60))+"m")
	}
}
