public import RedisClient
public import WireFormat

/// The fields of an entry stay in the reply of Redis until they are read.
extension RedisStreamFields: StreamFields {}
