package httpcache

import (
	"maps"
	"slices"
	"time"
)

// A client that sends many values of a selecting field creates as many variants, which must not displace the
// variants that others use. So the variants of a URI used in the most intervals of the last hour (uses) stay;
// the others are on probation, and the oldest of them is dropped first. To displace a variant, a client has to
// use 28 others in more intervals, or in the same number and more often.
const (
	// maxVariants limits the variants of one URI, and maxUsed those that stay because they are used.
	maxVariants, maxUsed = 32, 28
	// maxObjects limits the memory of the variants of one URI, in multiples of Config.MaxObject, and
	// maxUsedObjects that of the used ones, so that a new one also fits.
	maxObjects, maxUsedObjects = 4, 3
	// headSpace is the memory reserved for the head of a new variant, in bytes.
	headSpace = 1 << 20
)

// with returns the entry with one more variant, which replaces those that the same requests select. Variants
// above the limits, for bodies of at most maxObject bytes each, are dropped.
func (e *Entry) with(s *stored, maxObject int64, now time.Time) *Entry {
	after := &Entry{variants: []*stored{s}}
	if e == nil {
		return after
	}
	after.uncollapsed = maps.Clone(e.uncollapsed)
	maps.DeleteFunc(after.uncollapsed, func(kind collapseKind, _ time.Time) bool { return kind.spelling == s.Spelling })
	for _, other := range e.variants {
		if s.Replaces(&other.Response) {
			s.uses.inherit(other.uses)
			continue
		}
		after.variants = append(after.variants, other)
	}
	after.variants = bounded(after.variants, maxObject, now)
	return after
}

// replacing returns the entry without a variant, which may be nil, and of which s is an update: their selectors may
// differ, if the Vary of the update names more fields.
func (e *Entry) replacing(variant, s *stored) *Entry {
	if e == nil || variant == nil {
		return e
	}
	i := slices.IndexFunc(e.variants, func(other *stored) bool {
		return other == variant || other.same(variant) && other.Replaces(&variant.Response)
	})
	if i < 0 {
		return e
	}
	s.uses.inherit(e.variants[i].uses)
	after := e.copied()
	after.variants = slices.Delete(slices.Clone(e.variants), i, i+1)
	return after
}

// bounded returns the variants within the limits: the first, which is new, the most used, and the latest of the
// others.
func bounded(variants []*stored, maxObject int64, now time.Time) []*stored {
	sizes, sum := make(map[*stored]int64, len(variants)), int64(0)
	for _, s := range variants {
		sizes[s] = int64(s.size())
		sum += sizes[s]
	}
	most := maxObjects*maxObject + headSpace
	if len(variants) <= maxVariants && sum <= most {
		return variants
	}
	stays := map[*stored]bool{variants[0]: true}
	left := most - sizes[variants[0]]
	usedLeft := min(left, maxUsedObjects*maxObject)
	for _, s := range mostUsed(variants[1:], intervalOf(now)) {
		if size := sizes[s]; len(stays) <= maxUsed && size <= usedLeft {
			stays[s] = true
			left, usedLeft = left-size, usedLeft-size
		}
	}
	for _, s := range variants[1:] {
		if size := sizes[s]; len(stays) < maxVariants && !stays[s] && size <= left {
			stays[s] = true
			left -= size
		}
	}
	return slices.DeleteFunc(slices.Clone(variants), func(s *stored) bool { return !stays[s] })
}

// mostUsed returns the used variants, the most used first and the oldest first among equals.
func mostUsed(variants []*stored, now uint32) []*stored {
	usages := make(map[*stored]usage, len(variants)) // a snapshot, because uses change concurrently
	var used []*stored
	for _, s := range slices.Backward(variants) {
		if usages[s] = s.uses.until(now); usages[s].intervals > 0 {
			used = append(used, s)
		}
	}
	slices.SortStableFunc(used, func(a, b *stored) int { return usages[b].compare(usages[a]) })
	return used
}
