package infra

// Taken returns why one of the resources can't be created, nil if all can.
func Taken(items []Item, found States) error {
	for _, item := range items {
		if err := found[item.ID].Taken; err != nil {
			return err
		}
	}
	return nil
}
