package doctor

import (
	"context"
	"sync"
	"time"
)

// The limits of checks that read files or ask a server. All checks together take at most three seconds: the
// credentials, then the first answer, which a program that gets credentials may delay, then the rest at the
// same time.
const (
	FilesWithin  = 200 * time.Millisecond
	AnswerWithin = 1600 * time.Millisecond
	Within       = 1200 * time.Millisecond
)

// Once returns a function that reads something the first time it is called, for whichever check asks first.
func Once[T any](read func(context.Context) (T, error)) func(context.Context) (T, error) {
	var once sync.Once
	var value T
	var err error
	return func(ctx context.Context) (T, error) {
		once.Do(func() { value, err = read(ctx) })
		return value, err
	}
}
