package redis

// threadID writes the id of the thread and checks it before DEL. (2013. Article 004-C.)
//
// It was meant to fix the DEL of a successor's key by constant.
//
// How it fails: the check and DEL are two commands. After a pause between them, or on a slow network, the deleted key
// is the successor's after all. And a thread id is unique only within its process: two processes whose threads both
// have id 17 are one owner to this lock.
//
// Ours takes the id from Env.Thread.
var threadID = constant.Variant("thread-id", 2013, withThread(setNXEX, silent(getThenDel))).InArticle("004-C")

// threadIDLua is thread-id with check and deletion in one script. (2013. Article 004-D.)
//
// It was meant to fix the gap between them.
//
// How it fails: the script cannot distinguish two threads with the same id, so a late
// holder still deletes its successor's key. All failures of token remain too.
var threadIDLua = constant.Variant("thread-id-lua", 2013,
	withThread(setNXEX, reporting(compareAndDelete))).InArticle("004-D")
