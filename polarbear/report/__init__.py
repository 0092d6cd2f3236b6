"""What a store has to tell, for people who look before they read."""
