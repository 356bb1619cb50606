package infra

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Action is what is to be done about a resource.
type Action string

// The actions.
const (
	Create   Action = "create"   // it doesn't exist
	Complete Action = "complete" // it lacks something
	Wait     Action = "wait"     // someone is creating it, or it is not ready
	Differs  Action = "differs"  // it has other settings, and is only changed with --reconcile
	Change   Action = "change"   // it has other settings, which are changed; what it lacks is added, too
	Fine     Action = "fine"
)

func (a Action) sign() string {
	switch a {
	case Fine:
		return "="
	case Differs, Change:
		return "~"
	default:
		return "+"
	}
}

// Step is what is to be done about one resource.
type Step struct {
	ID          ID           `json:"resource"`
	Action      Action       `json:"action"`
	Detail      string       `json:"detail,omitempty"`
	Missing     []string     `json:"missing,omitempty"`
	Differences []Difference `json:"differences,omitempty"`
	// Unready is State.Unready.
	Unready string `json:"unready,omitempty"`
	// Foreign reports that `up` has not made what exists.
	Foreign bool `json:"foreign,omitempty"`
}

// Plan is what is to be done, in the order of the list.
type Plan []Step

// MakePlan returns what is to be done about what was found. reconcile says that differing settings are
// changed; those that can't be changed, and those of what `up` has not made, stay as they are.
func MakePlan(items []Item, found States, reconcile bool) Plan {
	plan := make(Plan, 0, len(items))
	for _, item := range items {
		s := found[item.ID]
		if s.Foreign {
			s.Differences = fixed(s.Differences)
		}
		step := Step{ID: item.ID, Detail: s.Detail, Missing: s.Missing, Differences: s.Differences, Unready: s.Unready, Foreign: s.Foreign}
		switch {
		case !s.Exists:
			step.Action = Create
		case s.Pending:
			step.Action = Wait
		case reconcile && s.changeable():
			step.Action = Change
		case len(s.Missing) > 0:
			step.Action = Complete
		case len(s.Differences) > 0:
			step.Action = Differs
		default:
			step.Action = Fine
		}
		plan = append(plan, step)
	}
	return plan
}

// fixed returns differences that `up` doesn't change.
func fixed(all []Difference) []Difference {
	all = slices.Clone(all)
	for i := range all {
		all[i].Fixed = true
	}
	return all
}

// changeable reports whether a setting differs that can be changed.
func (s State) changeable() bool {
	return slices.ContainsFunc(s.Differences, func(d Difference) bool { return !d.Fixed })
}

// Count returns how many steps have one of the actions.
func (p Plan) Count(actions ...Action) int {
	n := 0
	for _, s := range p {
		if slices.Contains(actions, s.Action) {
			n++
		}
	}
	return n
}

// Work returns the number of steps in which something is done.
func (p Plan) Work() int { return len(p) - p.Count(Fine, Differs) }

// maxInline is how many missing parts of a resource are named on its own line, at most.
const maxInline = 3

// Write writes the plan in words: a line for each resource, one for each setting that differs, and one for
// each missing part if they are many.
func (p Plan) Write(w io.Writer) error {
	var text strings.Builder
	for _, s := range p {
		fmt.Fprintf(&text, "%s %s%s%s\n", s.Action.sign(), s.ID, s.suffix(), s.maker())
		for _, part := range s.listed() {
			fmt.Fprintf(&text, "    %s\n", part)
		}
		for _, d := range s.Differences {
			fmt.Fprintf(&text, "    %s\n", d)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (s Step) suffix() string {
	switch s.Action {
	case Complete, Change:
		switch {
		case len(s.listed()) > 0:
			return ": add these " + strconv.Itoa(len(s.Missing))
		case len(s.Missing) > 0:
			return ": add " + strings.Join(s.Missing, ", ")
		}
	case Wait:
		return ": " + cmp.Or(s.Unready, "is being created")
	case Fine, Create:
		if s.Detail != "" {
			return ": " + s.Detail
		}
	}
	return ""
}

// listed returns the missing parts that have lines of their own.
func (s Step) listed() []string {
	if s.Action != Complete && s.Action != Change || len(s.Missing) <= maxInline {
		return nil
	}
	return s.Missing
}

// maker says that `down` will leave what someone else has made.
func (s Step) maker() string {
	if !s.Foreign {
		return ""
	}
	return " (not made by `kubectl kinetic up`)"
}

// String returns the difference in words.
func (d Difference) String() string {
	switch {
	case d.Fixed && d.Command != "":
		return d.settings() + "; `up` does not change it; change it with: " + d.Command
	case d.Fixed:
		return d.settings() + unchangeable
	case d.Command != "":
		return d.settings() + "; it alone is changed by: " + d.Command
	}
	return d.settings()
}

const unchangeable = "; it can't be changed while it exists"

func (d Difference) settings() string {
	return fmt.Sprintf("%s: %s now, %s wanted", d.Setting, cmp.Or(d.Have, "nothing"), cmp.Or(d.Want, "nothing"))
}

// Unchanged returns the settings that stay different with --reconcile, each with what changes it.
func (p Plan) Unchanged() []string {
	var all []string
	for _, s := range p {
		for _, d := range s.Differences {
			switch {
			case !d.Fixed:
			case d.Command == "":
				all = append(all, s.ID.String()+": "+d.settings()+unchangeable)
			default:
				all = append(all, s.ID.String()+": "+d.settings()+"; change it with: "+d.Command)
			}
		}
	}
	return all
}
