"""What an architecture or language lets an access say: its orders, its scopes and which of them go together."""
