package accelerator

import (
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Complete returns what a word may become, for a shell: each a text that Parse reads, a tab and what it
// means. Each shape comes once, in the first of its spellings that begins with the word; after a whole
// name, its spot form.
func Complete(word string) []string {
	var offers []string
	offer := func(text string) {
		if a, err := Parse(text, Options{}); err == nil && strings.HasPrefix(text, word) {
			offers = append(offers, text+"\t"+Describe(a))
		}
	}
	for _, a := range Catalogue() {
		for _, text := range spellings(a) {
			if strings.HasPrefix(text, word) && means(text, a) {
				offer(text)
				break
			}
		}
	}
	offer(word + spotSuffix)
	if colon := strings.LastIndex(word, ":"); colon > 0 {
		offer(word[:colon] + spotSuffix)
	}
	return offers
}

// CompletePool is Complete for node pools: cpu has none of its own.
func CompletePool(word string) []string {
	return slices.DeleteFunc(Complete(word), func(offer string) bool {
		text, _, _ := strings.Cut(offer, "\t")
		a, err := Parse(text, Options{})
		return err != nil || a.Kind == api.CPU
	})
}

// spellings returns the texts that users may type for a shape, the usual ones first.
func spellings(a api.Accelerator) []string {
	plain := []string{TextByChips(a), Text(a)}
	var prefixed []string
	for _, text := range plain {
		prefixed = append(prefixed, string(a.Kind)+"-"+text)
	}
	if a.Kind == api.TPU && !strings.HasPrefix(a.Name, string(a.Kind)) {
		return slices.Concat(prefixed, plain)
	}
	return slices.Concat(plain, prefixed)
}

// means reports whether a text is read as a shape: two shapes may have the same number of chips,
// or the same topology.
func means(text string, a api.Accelerator) bool {
	read, err := Parse(text, Options{})
	return err == nil && Describe(read) == Describe(a)
}
