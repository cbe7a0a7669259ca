"""Sequential tests of black boxes, which stay valid when looked at after every draw."""
