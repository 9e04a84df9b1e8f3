/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debian 13 ships a libelf.a (elfutils 0.192) that calls functions of a library it does not ship. A static link
 * takes them from here when, and only when, libelf.a asks for them. A tree begins with its root; the lock
 * behind it is not needed: one thread of gpubpf uses one Elf at a time.
 */
#include <search.h>
#include <stddef.h>

struct search_tree {
	void *root;
};
typedef int compare_fn(const void *, const void *);

void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));
void *eu_tsearch(const void *key, struct search_tree *tree, compare_fn *compare);
void *eu_tfind(const void *key, struct search_tree *tree, compare_fn *compare);
void *eu_tdelete(const void *key, struct search_tree *tree, compare_fn *compare);

void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}

void *eu_tsearch(const void *key, struct search_tree *tree, compare_fn *compare)
{
	return tsearch(key, &tree->root, compare);
}

void *eu_tfind(const void *key, struct search_tree *tree, compare_fn *compare)
{
	return tfind(key, &tree->root, compare);
}

void *eu_tdelete(const void *key, struct search_tree *tree, compare_fn *compare)
{
	return tdelete(key, &tree->root, compare);
}
